// Package common holds what the sentences of both halves share: how a sentence is registered with what it needs and costs,
// what every scenario carries, and the sentences that judge all answers of a run at its end.
package common
