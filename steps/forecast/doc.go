// Package forecast holds what can be known of a run before it begins, from the configuration and the definitions of the sentences:
// which scenarios are selected and apply, what they create and send, and how long that takes at least. It executes no sentence.
package forecast
