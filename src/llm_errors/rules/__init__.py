"""The rules. The module `shipped` has all of them. Importing this package alone loads no rule, as only failures need rules."""
