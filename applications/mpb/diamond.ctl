; diamond.ctl - bands of light in a lattice of spheres, as in diamond.
(set! num-bands 10)
(set! geometry-lattice (make lattice
    (basis-size (sqrt 0.5) (sqrt 0.5) (sqrt 0.5))
    (basis1 0 1 1) (basis2 1 0 1) (basis3 1 1 0)))
(set! k-points (list
    (vector3 0 0.5 0.5) (vector3 0 0.625 0.375) (vector3 0 0.5 0)))
(define glass (make dielectric (epsilon 11.56)))
(set! geometry (list
    (make sphere (center 0.125 0.125 0.125) (radius 0.25) (material glass))
    (make sphere (center -0.125 -0.125 -0.125) (radius 0.25)
          (material glass))))
(set! resolution 24)
(run)
