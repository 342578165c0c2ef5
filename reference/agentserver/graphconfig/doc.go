// Package graphconfig reads the graph configuration file of a deployment, and the environment file that it names
// (interface, section 5, "Agent server custom authentication", item 3).
//
// It reads and checks; the named objects are loaded elsewhere. Every error names the file, the line and the column,
// and says what to do.
package graphconfig
