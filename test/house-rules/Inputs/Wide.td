// A definition that a line break could divide.
def Wide {
  let description = [{ A sentence of more than one hundred columns stands in one line, though it has many spaces. }];
}
