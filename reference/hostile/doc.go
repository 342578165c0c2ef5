// Package hostile holds targets that try to harm those who judge them: that fill memory, waste time, break the terminal or the
// pages of a report, or are reported conformant without being so. Each is a row of a table, with the verdict that is right.
//
// Most are the reference with one layer that is hostile, so that the hostile answer comes in the middle of a run. Some stand in front of
// it, on the level of connections. The program in the folder run serves each on loopback, judges it with the binary, and measures
// the time and the memory of that from outside.
package hostile
