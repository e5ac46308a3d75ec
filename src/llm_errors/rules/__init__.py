"""The rules. `shipped` has all of them; importing this package alone loads none, because only failures need them."""
