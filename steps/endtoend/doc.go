// Package endtoend holds what the sentences about a deployment together with its agent server mean (section 1 of the
// interface).
package endtoend
