// A stand-in for a kubelet and its container runtime. It serves exec, attach and port-forward with the streaming server
// of container runtimes, which speaks SPDY and the older WebSocket protocols, and with -websocket also with the
// translator that kubelets put in front of it. "Containers" are processes of this machine.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/proxy"
	translator "k8s.io/apiserver/pkg/util/proxy"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/streaming/pkg/httpstream/wsstream"
	utilexec "k8s.io/utils/exec"
)

const idle, creation = 4 * time.Hour, 30 * time.Second

// containers runs commands on this machine.
type containers struct{}

// ExecInContainer runs a command. "sizes N" prints the first N sizes of the terminal.
func (containers) ExecInContainer(ctx context.Context, _, _, _ string, cmd []string, in io.Reader, out, errOut io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if cmd[0] == "sizes" {
		var count int
		fmt.Sscan(cmd[1], &count)
		for i := 0; i < count; i++ {
			size := <-resize
			fmt.Fprintf(out, "%dx%d\n", size.Width, size.Height)
		}
		return nil
	}
	process := exec.Command(cmd[0], cmd[1:]...)
	process.Stdout = out
	process.Stderr = errOut
	if errOut == nil {
		process.Stderr = out
	}
	if in != nil {
		// A pipe, because Wait() must not wait for input that the command does not read.
		pipe, err := process.StdinPipe()
		if err != nil {
			return err
		}
		go func() {
			io.Copy(pipe, in)
			pipe.Close()
		}()
	}
	err := process.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return utilexec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", exit.ExitCode()), Code: exit.ExitCode()}
	}
	return err
}

// AttachContainer greets, and returns the input in upper case.
func (containers) AttachContainer(_ context.Context, _, _, _ string, in io.Reader, out, _ io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize) error {
	fmt.Fprintln(out, "attached")
	if in == nil {
		return nil
	}
	buffer := make([]byte, 4096)
	for {
		size, err := in.Read(buffer)
		if size > 0 {
			io.WriteString(out, strings.ToUpper(string(buffer[:size])))
		}
		if err != nil {
			return nil
		}
	}
}

// PortForward connects to a port of this machine.
func (containers) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	defer connection.Close()
	var both sync.WaitGroup
	both.Add(1)
	go func() {
		defer both.Done()
		io.Copy(stream, connection)
	}()
	io.Copy(connection, stream)
	connection.(*net.TCPConn).CloseWrite()
	both.Wait()
	return nil
}

type kubelet struct {
	address   string
	websocket bool // translates WebSockets itself
	mutex     sync.Mutex
}

// serve answers /exec/NAMESPACE/POD/CONTAINER, /attach/… and /portForward/NAMESPACE/POD. The pod "broken" is refused.
func (k *kubelet) serve(w http.ResponseWriter, r *http.Request) {
	k.record(r)
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) < 3 || parts[2] == "broken" {
		http.Error(w, "pod does not exist", http.StatusNotFound)
		return
	}
	itself := &url.URL{Scheme: "https", Host: k.address, Path: r.URL.Path, RawQuery: r.URL.RawQuery}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	if parts[0] == "portForward" {
		if k.websocket && wsstream.IsWebSocketRequestWithTunnelingProtocol(r) {
			upgrade := proxy.NewUpgradeAwareHandler(itself, transport, false, true, responder{})
			translator.NewTunnelingHandler(upgrade).ServeHTTP(w, r)
			return
		}
		options, err := portforward.NewV4Options(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		portforward.ServePortForward(w, r, containers{}, parts[2], "", options, idle, creation, portforward.SupportedProtocols)
		return
	}
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if k.websocket && wsstream.IsWebSocketRequestWithStreamCloseProtocol(r) {
		streams := translator.Options{Stdin: options.Stdin, Stdout: options.Stdout, Stderr: options.Stderr, Tty: options.TTY}
		translator.NewStreamTranslatorHandler(itself, transport, 0, streams).ServeHTTP(w, r)
		return
	}
	protocols := remotecommand.SupportedStreamingProtocols
	if parts[0] == "exec" {
		remotecommand.ServeExec(w, r, containers{}, parts[2], "", parts[3], r.URL.Query()["command"], options, idle, creation, protocols)
	} else {
		remotecommand.ServeAttach(w, r, containers{}, parts[2], "", parts[3], options, idle, creation, protocols)
	}
}

// record prints the request, so that a test can see how it was connected.
func (k *kubelet) record(r *http.Request) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	json.NewEncoder(os.Stdout).Encode(map[string]any{"method": r.Method, "path": r.URL.Path, "query": r.URL.RawQuery, "upgrade": r.Header.Get("Upgrade"),
		"protocols": append(r.Header.Values("X-Stream-Protocol-Version"), r.Header.Values("Sec-Websocket-Protocol")...), "agent": r.UserAgent()})
}

type responder struct{}

func (responder) Error(w http.ResponseWriter, _ *http.Request, err error) {
	http.Error(w, err.Error(), http.StatusInternalServerError)
}

func main() {
	certificate := flag.String("certificate", "", "certificate of the server")
	key := flag.String("key", "", "its key")
	clients := flag.String("client-ca", "", "CA of clients")
	websocket := flag.Bool("websocket", false, "translate WebSockets, as a kubelet that declares ExtendWebSocketsToKubelet does")
	flag.Parse()
	pair, err := tls.LoadX509KeyPair(*certificate, *key)
	if err != nil {
		log.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}}
	if *clients != "" {
		pem, err := os.ReadFile(*clients)
		if err != nil {
			log.Fatal(err)
		}
		config.ClientCAs = x509.NewCertPool()
		config.ClientCAs.AppendCertsFromPEM(pem)
		config.ClientAuth = tls.RequireAndVerifyClientCert
		if *websocket { // it calls itself, without a certificate
			config.ClientAuth = tls.VerifyClientCertIfGiven
		}
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	k := &kubelet{address: listener.Addr().String(), websocket: *websocket}
	log.Fatal(http.Serve(listener, http.HandlerFunc(k.serve)))
}
