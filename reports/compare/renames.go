package compare

// matching gives the id in the older catalogue of each requirement of the newer one.
type matching map[string]string

// match pairs the requirements of two catalogues, given as titles by id: by id, and by title among those that are left and
// whose title is the only one of its kind.
func match(older, newer map[string]string) matching {
	m := matching{}
	newTitles, oldTitles := map[string][]string{}, map[string][]string{}
	for id, title := range newer {
		if _, stays := older[id]; stays {
			m[id] = id
		} else {
			newTitles[title] = append(newTitles[title], id)
		}
	}
	for id, title := range older {
		if m[id] == "" && title != "" {
			oldTitles[title] = append(oldTitles[title], id)
		}
	}
	for title, ids := range newTitles {
		if len(ids) == 1 && len(oldTitles[title]) == 1 {
			m[ids[0]] = oldTitles[title][0]
		}
	}
	return m
}
