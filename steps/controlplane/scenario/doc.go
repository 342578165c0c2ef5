// Package scenario holds what all sentences about the control plane share in one scenario: the deployment that they speak of,
// what the client was answered, and the acts and judgements that belong to several subjects.
package scenario
