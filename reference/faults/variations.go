package faults

import "slices"

func variations() []Variation {
	return slices.Concat(forms(), transports(), waits(), otherStatuses(), otherContents(), otherLifecycles(), otherAgents())
}
