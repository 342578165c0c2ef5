// Package listing holds the sentences about lists of revisions: their form, pages, limits and filters (sections 4 and 8).
package listing
