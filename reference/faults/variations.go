package faults

func variations() []Variation { return nil }
