// Command ferretdb-server speaks MongoDB's wire protocol over SQLite files, for tests that need a server.
//
//	ferretdb-server DIRECTORY [PORT]
//
// It listens on 127.0.0.1, on a free port unless one is given, prints its address as one line, and ends on SIGTERM.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		log.Fatal("usage: ferretdb-server DIRECTORY [PORT]")
	}
	port := "0"
	if len(os.Args) == 3 {
		port = os.Args[2]
	}
	server, err := ferretdb.New(&ferretdb.Config{
		Handler: "sqlite",
		// Data written without fsync survives the death of the process; no test cuts the power.
		SQLiteURL: "file:" + strings.TrimSuffix(os.Args[1], "/") + "/?_pragma=synchronous(off)",
		Listener:  ferretdb.ListenerConfig{TCP: "127.0.0.1:" + port},
		// Tests cause failing requests on purpose, so logging them would be noise.
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() { fmt.Println(server.MongoDBURI()) }()
	if err := server.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
