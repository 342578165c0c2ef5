// Package naming decides to which addresses requests go that a control plane has named: those of agent servers. An untrusted control
// plane must not lead the tokens of users, or any request, into the network of the machine on which the suite runs.
package naming
