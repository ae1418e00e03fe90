package main

// Templates of the help texts, for package cli.
const (
	appHelp = `{{.Name}}: {{.Usage}}

Usage:
   ccrun [run] [flags] WORKFLOW.wasm [the workflow's own arguments]
   ccrun COMMAND [flags] ...

Commands:{{range .VisibleCommands}}
   {{.Name}}{{"\t"}}{{.Usage}}{{end}}

Examples:
{{.Description}}
ccrun COMMAND --help explains a command.
`
	commandHelp = `{{.HelpName}}: {{.Usage}}

Usage:
   {{.UsageText}}
{{if .VisibleFlags}}
Flags:{{range .VisibleFlags}}
   {{.}}{{end}}
{{end}}
Examples:
{{.Description}}`

	appExamples = `   ccrun -n 4 ring_allgather.wasm -bytes 64MiB
   ccrun --json -n 4 ring_allgather.wasm > result.json
   ccrun new my_workflow
`
)
