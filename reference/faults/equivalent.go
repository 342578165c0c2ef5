package faults

import "slices"

func equivalentMutants() []EquivalentMutant {
	return slices.Concat(forms(), transports(), waits(), otherStatuses(), otherContents(), otherLifecycles(), otherAgents(), otherWords())
}
