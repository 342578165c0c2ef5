// Package resume keeps the journal of a run in the folder of its reports, so that a run that was broken off (a crash, a kill, a
// machine that went away) can go on where it ended: each exchange and each verdict is a line, written when it came, without
// secrets. When the reports are written the journal is removed.
//
// A journal that is read may come from anywhere: its sizes are bounded, its values are checked against the catalogue, and no
// request is made from it.
package resume
