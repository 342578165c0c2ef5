// Package sample makes results for the tests of the faces: a conformant, a faulty, an unreachable, a large and a
// hostile one. They look like those of real runs and are the same every time.
package sample
