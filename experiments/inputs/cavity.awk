# Writes a square of side * side cells, one cell deep, as a mesh of Gmsh: group 1 is the lid, 2 the walls, 3 the sides.
function at(x, y, z) { return (z * (side + 1) + y) * (side + 1) + x + 1 }
function face(group, a, b, c, d) { print ++element, 3, 2, group, group, a, b, c, d }
function layer(x, y, z) { return at(x, y, z) " " at(x + 1, y, z) " " at(x + 1, y + 1, z) " " at(x, y + 1, z) }
BEGIN {
  print "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes"
  print (side + 1) * (side + 1) * 2
  for (z = 0; z <= 1; z++) for (y = 0; y <= side; y++) for (x = 0; x <= side; x++)
    print at(x, y, z), x / side, y / side, z / side
  print "$EndNodes\n$Elements"
  print 3 * side * side + 4 * side
  for (i = 0; i < side; i++) {
    face(1, at(i, side, 0), at(i + 1, side, 0), at(i + 1, side, 1), at(i, side, 1))
    face(2, at(i, 0, 0), at(i + 1, 0, 0), at(i + 1, 0, 1), at(i, 0, 1))
    face(2, at(0, i, 0), at(0, i + 1, 0), at(0, i + 1, 1), at(0, i, 1))
    face(2, at(side, i, 0), at(side, i + 1, 0), at(side, i + 1, 1), at(side, i, 1))
  }
  for (z = 0; z <= 1; z++) for (y = 0; y < side; y++) for (x = 0; x < side; x++) print ++element, 3, 2, 3, 3, layer(x, y, z)
  for (y = 0; y < side; y++) for (x = 0; x < side; x++) print ++element, 5, 2, 4, 4, layer(x, y, 0), layer(x, y, 1)
  print "$EndElements"
}
