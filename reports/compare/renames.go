package compare

// rename says that a requirement has got another id in a release of the suite. Ids are never reused, so an old id
// leads to one requirement at most.
type rename struct{ from, to string }

// renames lists the renamed requirements, the oldest first. Add a line whenever an id changes; where the title stays
// the same, the rename is found without it.
func renames() []rename { return nil }

// matching gives the id in the older catalogue of each requirement of the newer one.
type matching map[string]string

// match pairs the requirements of two catalogues, given as titles by id: by id, by the table of renames, and by title
// among those that are left and whose title is the only one of its kind.
func match(older, newer map[string]string, table []rename) matching {
	m, taken := matching{}, map[string]bool{}
	for id := range newer {
		if _, ok := older[id]; ok {
			m[id], taken[id] = id, true
		}
	}
	for _, r := range table {
		to := r.to
		for _, later := range table { // a requirement may have been renamed more than once
			if later.from == to {
				to = later.to
			}
		}
		_, inOld := older[r.from]
		_, inNew := newer[to]
		if inOld && inNew && m[to] == "" && !taken[r.from] {
			m[to], taken[r.from] = r.from, true
		}
	}
	byTitle := map[string][]string{}
	for id, title := range older {
		if !taken[id] && title != "" {
			byTitle[title] = append(byTitle[title], id)
		}
	}
	newTitles := map[string]int{}
	for id, title := range newer {
		if m[id] == "" {
			newTitles[title]++
		}
	}
	for id, title := range newer {
		if m[id] == "" && len(byTitle[title]) == 1 && newTitles[title] == 1 {
			m[id] = byTitle[title][0]
		}
	}
	return m
}
