package faults

import ()
