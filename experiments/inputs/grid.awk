# Writes a grid of side * side * side points as a graph of Scotch.
function at(x, y, z) { return (z * side + y) * side + x }
function line(x, y, z,   count, names) {
  if (x > 0) { names = names " " at(x - 1, y, z); count++ }
  if (x < side - 1) { names = names " " at(x + 1, y, z); count++ }
  if (y > 0) { names = names " " at(x, y - 1, z); count++ }
  if (y < side - 1) { names = names " " at(x, y + 1, z); count++ }
  if (z > 0) { names = names " " at(x, y, z - 1); count++ }
  if (z < side - 1) { names = names " " at(x, y, z + 1); count++ }
  print count names
}
BEGIN {
  print 0
  print side * side * side, 6 * side * side * (side - 1)
  print "0 000"
  for (z = 0; z < side; z++) for (y = 0; y < side; y++) for (x = 0; x < side; x++) line(x, y, z)
}
