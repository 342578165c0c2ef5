// Package messages reads the messages of a thread's state, and what they say, leniently: whether they have the right form is one
// requirement's concern.
package messages
