// Includes the checks, which include it; and a class of 41 methods.
#ifndef TILE_FRONTEND_LOWER_EMITS_H
#define TILE_FRONTEND_LOWER_EMITS_H

#include "frontend/Sema/Checks.cpp"

class Everything {
public:
  Everything() : all{0} {}
  int get0() const { return all[0]; }
  int get1() const { return all[1]; }
  int get2() const { return all[2]; }
  int get3() const { return all[3]; }
  int get4() const { return all[4]; }
  int get5() const { return all[5]; }
  int get6() const { return all[6]; }
  int get7() const { return all[7]; }
  int get8() const { return all[8]; }
  int get9() const { return all[9]; }
  int get10() const { return all[10]; }
  int get11() const { return all[11]; }
  int get12() const { return all[12]; }
  int get13() const { return all[13]; }
  int get14() const { return all[14]; }
  int get15() const { return all[15]; }
  int get16() const { return all[16]; }
  int get17() const { return all[17]; }
  int get18() const { return all[18]; }
  int get19() const { return all[19]; }
  virtual void do0(int a = f());
  virtual void do1(int a = f());
  virtual void do2(int a = f());
  virtual void do3(int a = f());
  virtual void do4(int a = f());
  virtual void do5(int a = f());
  virtual void do6(int a = f());
  virtual void do7(int a = f());
  virtual void do8(int a = f());
  virtual void do9(int a = f());
  virtual void do10(int a = f());
  virtual void do11(int a = f());
  virtual void do12(int a = f());
  virtual void do13(int a = f());
  virtual void do14(int a = f());
  virtual void do15(int a = f());
  virtual void do16(int a = f());
  virtual void do17(int a = f());
  virtual void do18(int a = f());
  virtual void do19(int a = f());

private:
  struct Inner {
    void notCounted();
  };
  using Function = void (*)(int);
  int all[20];
};

#endif
