"use strict";
const names = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "more"];
