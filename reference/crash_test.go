package reference_test

func runAsVictim() bool { return false }
