//go:build race

package spec

// The race detector makes the judgement of large bodies many times slower, and finds nothing more in them.
func init() { hostileSize = 512 << 10 }
