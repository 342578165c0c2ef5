// Package validate reads request parameters and bodies and collects what is wrong with them.
//
// Every reader notes its complaint in a [Problems] and returns a harmless value, so that one pass over a request
// finds all its faults; the caller asks once, at the end, whether there were any. The complaints have the shape of
// the interface's ValidationError (section 2): where (loc), what (msg), which kind (type), and the value, if it is
// a plain one that may be shown.
package validate
