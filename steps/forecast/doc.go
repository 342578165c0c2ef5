// Package forecast holds what can be known of a run before it begins, from the configuration and the definitions of the sentences:
// which scenarios are selected and apply, and what they create. It executes no sentence.
package forecast
