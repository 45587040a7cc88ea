// A pass of which nothing is said.
def Broken : Pass<"tile-broken"> {}
