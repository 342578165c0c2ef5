// Package common holds what the sentences of both halves share: which definitions godog is given for a scenario, what every scenario carries, and the sentences that judge all answers of a run at its end.
package common
