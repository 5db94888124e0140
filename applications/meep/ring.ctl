; ring.ctl - the modes of light in a ring, in the time domain.
(define-param n 3.4)            ; index of the ring
(define-param w 1)              ; its width
(define-param r 1)              ; its inner radius
(define-param pad 4)
(define-param dpml 2)
(define sxy (* 2 (+ r w pad dpml)))
(set! geometry-lattice (make lattice (size sxy sxy no-size)))
(set! geometry (list
    (make cylinder (center 0 0) (height infinity) (radius (+ r w))
          (material (make dielectric (index n))))
    (make cylinder (center 0 0) (height infinity) (radius r)
          (material air))))
(set! pml-layers (list (make pml (thickness dpml))))
(set-param! resolution 20)
(define place (vector3 (+ r 0.1)))
(set! sources (list (make source
    (src (make gaussian-src (frequency 0.15) (fwidth 0.1)))
    (component Ez) (center place))))
(run-sources+ 60
    (at-beginning output-epsilon)
    (after-sources (harminv Ez place 0.15 0.1)))
(output-efield-z)
