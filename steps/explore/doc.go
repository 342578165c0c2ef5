// Package explore sends random sequences of operations by several clients and compares each answer with a model of
// the interface. It finds what no scenario shows: faults that need a certain history. A sequence that fails is
// shrunk to the fewest operations that still fail, and is told as sentences of a closed vocabulary, which [Parse]
// reads again.
//
// The model of each half keeps every history that explains the answers so far ([world] of a thread, [past] of a
// deployment). Operations that were sent at the same time are tried in each order. Where no history is left, the last
// answer breaks a requirement. Where the interface is silent the model allows all answers.
package explore
