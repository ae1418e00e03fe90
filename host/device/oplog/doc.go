// Package oplog will be documented here.
package oplog
