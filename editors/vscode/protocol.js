// JSON-RPC over the streams of a child process, with VS Code's own types left out: this file runs
// in plain Node too.
"use strict";

const {spawn} = require("child_process");

/**
 * Starts a server and exchanges messages with it. `handlers` maps notifications' names to
 * functions of their parameters.
 */
class Connection {
  constructor(command, args, handlers, onEnd) {
    this.handlers = handlers;
    this.waiting = new Map();
    this.number = 0;
    this.buffer = Buffer.alloc(0);
    this.process = spawn(command, args, {stdio : [ "pipe", "pipe", "inherit" ]});
    this.process.stdout.on("data", (data) => this.receive(data));
    this.process.stdin.on("error", () => {});
    const end = (reason) => {
      for (const {reject} of this.waiting.values())
        reject(new Error(reason));
      this.waiting.clear();
      if (onEnd)
        onEnd(reason);
      onEnd = null;
    };
    this.process.on("error", (error) => end(`${command} cannot be started: ${error.message}`));
    this.process.on("exit", (code) => end(`${command} ended with ${code}`));
  }

  send(message) {
    const body = Buffer.from(JSON.stringify({jsonrpc : "2.0", ...message}));
    this.process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.process.stdin.write(body);
  }

  notify(method, params) { this.send({method, params}); }

  request(method, params) {
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, {resolve, reject});
      this.send({id, method, params});
    });
  }

  receive(data) {
    this.buffer = Buffer.concat([ this.buffer, data ]);
    for (;;) {
      const end = this.buffer.indexOf("\r\n\r\n");
      if (end < 0)
        return;
      const length = /Content-Length: *(\d+)/i.exec(this.buffer.toString("latin1", 0, end));
      const size = length ? Number(length[1]) : 0;
      if (this.buffer.length < end + 4 + size)
        return;
      const text = this.buffer.toString("utf8", end + 4, end + 4 + size);
      this.buffer = this.buffer.subarray(end + 4 + size);
      if (size)
        this.dispatch(JSON.parse(text));
    }
  }

  dispatch(message) {
    if (message.id !== undefined && message.method === undefined) {
      const {resolve, reject} = this.waiting.get(message.id) || {};
      this.waiting.delete(message.id);
      if (message.error && reject)
        reject(new Error(message.error.message));
      else if (resolve)
        resolve(message.result);
    } else if (this.handlers[message.method]) {
      this.handlers[message.method](message.params);
    }
  }

  async stop() {
    if (this.process.exitCode !== null)
      return;
    try {
      await this.request("shutdown", null);
      this.notify("exit", null);
    } catch (error) {
      this.process.kill();
    }
  }
}

module.exports = {Connection};
