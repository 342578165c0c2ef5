//go:build race

package spec

// The race detector makes the judgement of large bodies many times slower, and finds nothing more in them: make unit also
// runs these tests without it.
func init() { hostileSize = 32 << 10 }
