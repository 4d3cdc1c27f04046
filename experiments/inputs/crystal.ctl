; MPB: bands of a square lattice of rods.
(set! deterministic? true)
(set! num-bands 6)
(set! k-points (interpolate 2 (list (vector3 0 0 0) (vector3 0.5 0 0) (vector3 0.5 0.5 0) (vector3 0 0 0))))
(set! geometry-lattice (make lattice (size 1 1 no-size)))
(set! geometry
  (list (make cylinder (center 0 0 0) (radius 0.2) (height infinity) (material (make dielectric (epsilon 12))))))
(set! resolution 32)
(run-te)
(run-tm)
