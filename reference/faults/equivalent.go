package faults

import "slices"

// equivalentMutants are in the order in which several may stand around one server: what is said, then how it is encoded, then how
// it is sent.
func equivalentMutants() []EquivalentMutant {
	_, all := written()
	return slices.Concat(all, otherStatuses(), otherContents(), otherLifecycles(), otherAgents(), forms(), disguisesIgnored(), transports(), waits(), otherWords())
}
