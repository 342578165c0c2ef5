// Package cases derives combinations of values by rule, always the same and in the same order, so that no combination
// that the interface implies depends on somebody having thought of it.
//
// It knows neither HTTP nor Gherkin.
package cases

// Pairwise returns rows of indices, one index for each parameter, below its size, such that each value of a parameter
// stands in some row beside each value of any other one. The first row holds the first value of each. There is no row
// if a size is not positive.
//
// Most faults that need a combination need that of two values (Kuhn, Wallace, Gallo: Software Fault Interactions and
// Implications for Software Testing, 2004). The rows are found greedily: each one covers a pair that is missing, and as
// many others as its remaining values can.
func Pairwise(sizes ...int) [][]int {
	for _, size := range sizes {
		if size <= 0 {
			return nil
		}
	}
	missing := map[pair]bool{}
	var order []pair
	for p := range sizes {
		for q := p + 1; q < len(sizes); q++ {
			for v := range sizes[p] {
				for w := range sizes[q] {
					each := pair{p, v, q, w}
					missing[each] = true
					order = append(order, each)
				}
			}
		}
	}
	var rows [][]int
	take := func(row []int) {
		rows = append(rows, row)
		for p := range row {
			for q := p + 1; q < len(row); q++ {
				delete(missing, pair{p, row[p], q, row[q]})
			}
		}
	}
	take(make([]int, len(sizes)))
	for _, next := range order {
		if missing[next] {
			take(rowWith(next, sizes, missing))
		}
	}
	return rows
}

// pair is a value of a parameter beside a value of a later one.
type pair struct{ p, v, q, w int }

// rowWith returns a row that holds the pair. Each other value is the one that covers the most missing pairs with those
// that are set.
func rowWith(first pair, sizes []int, missing map[pair]bool) []int {
	row, set := make([]int, len(sizes)), make([]bool, len(sizes))
	row[first.p], row[first.q] = first.v, first.w
	set[first.p], set[first.q] = true, true
	for p, size := range sizes {
		if set[p] {
			continue
		}
		most := -1
		for v := range size {
			covered := 0
			for q := range sizes {
				if set[q] && missing[between(p, v, q, row[q])] {
					covered++
				}
			}
			if covered > most {
				most, row[p] = covered, v
			}
		}
		set[p] = true
	}
	return row
}

// between is the pair of two values, whichever parameter comes first.
func between(p, v, q, w int) pair {
	if p < q {
		return pair{p, v, q, w}
	}
	return pair{q, w, p, v}
}
