package main

import (
	"encoding/json"
	"net/url"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
)

type object = map[string]any

type event struct {
	revision int64
	name     string
	line     []byte
}

// lamps has the objects by name, and all events for watches. Revisions also increase over restarts, because they begin with the time.
type lamps struct {
	mutex            sync.Mutex
	objects          map[string]object
	events           []event
	revision, oldest int64         // watches can start at oldest or later
	changed          chan struct{} // closed by the next change
}

func newLamps() *lamps {
	now := time.Now().UnixMicro()
	return &lamps{objects: map[string]object{}, revision: now, oldest: now, changed: make(chan struct{})}
}

func failure(code int, reason, message string) (int, object) {
	return code, object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message}
}

// merge applies a JSON merge patch (RFC 7396).
func merge(target, patch object) object {
	result := object{}
	for key, value := range target {
		result[key] = value
	}
	for key, value := range patch {
		old, _ := result[key].(object)
		if nested, isObject := value.(object); isObject {
			result[key] = merge(old, nested)
		} else if result[key] = value; value == nil {
			delete(result, key)
		}
	}
	return result
}

func (l *lamps) record(kind, name string, lamp object) object {
	l.revision++
	lamp = merge(lamp, object{"metadata": object{"resourceVersion": strconv.FormatInt(l.revision, 10)}})
	l.events = append(l.events, event{l.revision, name, append(encoded(object{"type": kind, "object": lamp}), '\n')})
	close(l.changed)
	l.changed = make(chan struct{})
	return lamp
}

func (l *lamps) handle(r *request) (int, object) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if query, _ := url.ParseQuery(r.Query); r.Info.LabelSelector != "" || query.Has("dryRun") {
		return failure(400, "BadRequest", "lamps support neither label selectors nor dry runs")
	}
	found := l.objects[r.Info.Name]
	switch verb := r.Info.Verb; {
	case verb == "list":
		items := []object{}
		for name, lamp := range l.objects {
			if r.Info.Name == "" || r.Info.Name == name {
				items = append(items, lamp)
			}
		}
		return 200, object{"kind": "LampList", "apiVersion": "go.example.com/v1", "metadata": object{"resourceVersion": strconv.FormatInt(l.revision, 10)}, "items": items}
	case verb == "create" || verb == "patch" && found != nil:
		return l.write(found, r.Body)
	case found == nil:
		return failure(404, "NotFound", `lamps.go.example.com "`+r.Info.Name+`" not found`)
	case verb == "delete":
		delete(l.objects, r.Info.Name)
		return 200, l.record("DELETED", r.Info.Name, found)
	}
	return 200, found
}

// write creates a lamp, or patches the one that is found.
func (l *lamps) write(found object, body []byte) (int, object) {
	var sent object
	if err := json.Unmarshal(body, &sent); err != nil {
		return failure(400, "BadRequest", err.Error())
	}
	fixed := object{"uid": strconv.FormatInt(time.Now().UnixNano(), 10), "creationTimestamp": time.Now().UTC().Format(time.RFC3339)}
	code, kind := 201, "ADDED"
	if found != nil {
		code, kind, fixed = 200, "MODIFIED", found["metadata"].(object)
		fixed = object{"name": fixed["name"], "uid": fixed["uid"], "creationTimestamp": fixed["creationTimestamp"]}
	}
	lamp := merge(merge(found, sent), object{"kind": "Lamp", "apiVersion": "go.example.com/v1", "metadata": fixed})
	metadata := lamp["metadata"].(object)
	name, _ := metadata["name"].(string)
	if name == "" {
		return failure(422, "Invalid", "metadata.name: Required value")
	} else if found == nil && l.objects[name] != nil {
		return failure(409, "AlreadyExists", `lamps.go.example.com "`+name+`" already exists`)
	} else if found != nil && metadata["resourceVersion"] != found["metadata"].(object)["resourceVersion"] {
		return failure(409, "Conflict", "the lamp has been modified; apply your changes to the latest version and try again")
	}
	if found == nil || string(encoded(lamp)) != string(encoded(found)) {
		lamp = l.record(kind, name, lamp)
		l.objects[name] = lamp
	}
	return code, lamp
}

// watch sends the events after the resource version of the request; without one, the current objects first.
func (l *lamps) watch(r *request, out grpc.ServerStream) error {
	query, _ := url.ParseQuery(r.Query)
	position, _ := strconv.ParseInt(query.Get("resourceVersion"), 10, 64)
	next := chunk{Code: 200}
	l.mutex.Lock()
	if position != 0 && position < l.oldest {
		l.mutex.Unlock()
		code, status := failure(410, "Expired", "too old resource version")
		return out.SendMsg(&chunk{code, encoded(status), true})
	}
	if position == 0 {
		for name, lamp := range l.objects {
			if r.Info.Name == "" || r.Info.Name == name {
				next.Data = append(append(next.Data, encoded(object{"type": "ADDED", "object": lamp})...), '\n')
			}
		}
		position = l.revision
	}
	l.mutex.Unlock()
	for ; ; next = (chunk{}) {
		l.mutex.Lock()
		for i := len(l.events); i > 0 && l.events[i-1].revision > position; i-- {
			if event := l.events[i-1]; r.Info.Name == "" || r.Info.Name == event.name {
				next.Data = append(append([]byte{}, event.line...), next.Data...)
			}
		}
		changed := l.changed
		position = l.revision
		l.mutex.Unlock()
		if next.Code != 0 || len(next.Data) > 0 {
			if err := out.SendMsg(&next); err != nil {
				return err
			}
		}
		select {
		case <-changed:
		case <-out.Context().Done():
			return nil
		}
	}
}
