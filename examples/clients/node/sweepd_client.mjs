#!/usr/bin/env node
// A client of the sweepd engine for Node 18 and later, no packages: this file is all of it. Specification:
// protocol/protocol.md.
//
//     node sweepd_client.mjs URL FILE.f64 LENGTHS [FINGERPRINT]     what it prints: docs/clients.md
//
// Calls may be made without waiting for earlier ones; each promise gets its own answer or a SweepdError.
import crypto from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import { fileURLToPath } from "node:url";

const HELLO = 0x10, LOAD = 0x12, FIND = 0x13, SWEEP = 0x15;
const STATUSES = ["OK", "MORE", "BAD_FRAME", "UNKNOWN", "BAD_PARAM", "NOT_FOUND", "LIMIT", "CANCELLED", "DENIED", "STALE",
  "SHUTTING_DOWN", "INTERNAL", "NO_MEMORY", "BUSY"];
const HEADER = 12; // of a frame: length, opcode, flags or status, 0, id
const NONE = 2n ** 64n - 1n;

/** status: its name; at: the place as the protocol counts it (a BigInt), null where there is none. */
export class SweepdError extends Error {
  constructor(status, at, text) {
    super(`${status}${at === null ? "" : ` at ${at}`}: ${text}`);
    Object.assign(this, { status, at });
  }
}

export class Client {
  #socket; #timeoutMs; #calls = new Map(); #nextId = 0; #chunks = []; #size = 0; #maxBody = 2 ** 32 - 1;
  #broken = null; // why no call can be answered any more

  /** url: unix:PATH or tcp:HOST:PORT. A call not answered within timeoutMs ends the connection. */
  static async connect(url, { token = "", timeoutMs = 30000 } = {}) {
    if (os.endianness() !== "LE") throw new Error("this client needs a little-endian machine");
    const client = new Client();
    client.#timeoutMs = timeoutMs;
    client.#socket = net.connect(addressOf(url));
    client.#socket.on("data", (chunk) => client.#take(chunk));
    client.#socket.on("error", (e) => client.#end(e.syscall === "connect" ? "REFUSED" : "CLOSED", `${url}: ${e.message}`));
    client.#socket.on("close", () => client.#end("CLOSED", `${url}: the engine closed the connection`));
    const name = Buffer.from("node"), secret = Buffer.from(token), fixed = Buffer.alloc(12);
    fixed.writeUInt16LE(2, 0); // version 2.0
    fixed.writeUInt32LE(secret.length, 4);
    fixed.writeUInt32LE(name.length, 8);
    try {
      const reply = await client.#call(HELLO, [fixed, secret, name], (size) => size >= 56);
      client.#maxBody = Number(reply.readBigUInt64LE(8));
      return client;
    } catch (e) {
      client.close();
      throw e;
    }
  }

  close() { this.#socket.destroy(); }

  /** closes: Float64Array. allow: bits of what is let in: 1 NaN, 2 infinities, 4 closes <= 0. */
  async load(closes, allow = 0) {
    const fixed = shapeOf(closes.length, allow);
    return seriesOf(await this.#call(LOAD, [fixed, bytesOf(closes)], (size) => size === 64));
  }

  /** A series loaded before, by its fingerprint (hex): nothing is sent again. NOT_FOUND: load it. */
  async find(fingerprint, nBars, allow = 0) {
    const fixed = Buffer.concat([Buffer.from(fingerprint, "hex"), shapeOf(nBars, allow)]);
    return seriesOf(await this.#call(FIND, [fixed], (size) => size === 64));
  }

  /** combos: [[half, full, smooth, third, mid, p], ...]. Results in their order: pnl in percentage points, closed trades. */
  async sweep(series, combos, { fee = 0.09, entryAtCross = false } = {}) {
    const fixed = Buffer.alloc(56); // handle, strategy, form, combos, columns, windows, exec bytes; fee, entry
    fixed.writeBigUInt64LE(series.handle, 0);
    fixed.writeUInt32LE(1, 8); // hma-cross; form 0: rows
    fixed.writeBigUInt64LE(BigInt(combos.length), 16);
    fixed.writeBigUInt64LE(3n, 24); // columns pnl and trades
    fixed.writeUInt32LE(16, 36);
    fixed.writeDoubleLE(fee, 40);
    fixed.writeBigUInt64LE(entryAtCross ? 1n : 0n, 48);
    const rows = bytesOf(BigInt64Array.from(combos.flat(), BigInt)), n = combos.length;
    const reply = await this.#call(SWEEP, [fixed, rows], (size) => size === 16 * n);
    const bytes = new Uint8Array(reply); // a copy that starts at 0, as typed arrays want
    return { pnl: new Float64Array(bytes.buffer, 0, n), trades: new BigInt64Array(bytes.buffer, 8 * n, n), bytes };
  }

  /** Sends a request; the promise is its reply's payload. */
  #call(opcode, parts, sizeIsRight) {
    const bodySize = HEADER - 4 + parts.reduce((sum, part) => sum + part.length, 0);
    if (bodySize > this.#maxBody) throw new SweepdError("LIMIT", null, `a request of ${bodySize} bytes, ${this.#maxBody} allowed`);
    if (this.#broken) throw this.#broken;
    const id = this.#nextId = (this.#nextId % 0x7fffffff) + 1, header = Buffer.alloc(HEADER); // never 0: the engine's own
    header.writeUInt32LE(bodySize, 0);
    header[4] = opcode;
    header.writeUInt32LE(id, 8);
    this.#socket.cork();
    for (const part of [header, ...parts]) this.#socket.write(part);
    this.#socket.uncork();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#end("TIMED_OUT", `no answer within ${this.#timeoutMs} ms`), this.#timeoutMs);
      this.#calls.set(id, { opcode, sizeIsRight, resolve, reject, timer });
    });
  }

  /** Bytes come in pieces of any size: keeps them until a frame is whole. */
  #take(chunk) {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    while (this.#size >= 4) {
      if (this.#chunks[0].length < 4) this.#chunks = [Buffer.concat(this.#chunks)];
      const end = 4 + this.#chunks[0].readUInt32LE(0);
      if (this.#size < end) return;
      const all = Buffer.concat(this.#chunks);
      this.#chunks = end < all.length ? [all.subarray(end)] : [];
      this.#size = all.length - end;
      this.#answer(all.subarray(0, end));
    }
  }

  #answer(frame) {
    const status = frame[5], payload = frame.subarray(HEADER);
    const id = frame.length >= HEADER ? frame.readUInt32LE(8) : 0, call = this.#calls.get(id);
    if (status > 1 && payload.length >= 24 && (call || id === 0)) {
      const at = payload.readBigUInt64LE(0), text = payload.toString("utf8", 24), name = STATUSES[status] ?? `status ${status}`;
      if (!call) return this.#end(name, text); // of the connection, not of a call
      this.#settle(id).reject(new SweepdError(name, at === NONE ? null : at, text));
    } else if (status === 0 && call && frame[4] === (call.opcode | 0x80) && call.sizeIsRight(payload.length)) {
      this.#settle(id).resolve(payload);
    } else {
      this.#end("CLOSED", `an answer of ${frame.length} bytes that fits no request`);
    }
  }

  #settle(id) {
    const call = this.#calls.get(id);
    clearTimeout(call.timer);
    this.#calls.delete(id);
    return call;
  }

  #end(status, text) {
    this.#broken ??= new SweepdError(status, null, text);
    this.#socket.destroy();
    for (const id of [...this.#calls.keys()]) this.#settle(id).reject(this.#broken);
  }
}

function addressOf(url) {
  const tcp = /^tcp:(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(url);
  if (tcp) return { host: tcp[1] ?? tcp[2], port: Number(tcp[3]) };
  if (/^unix:./.test(url)) return { path: url.slice(5) };
  throw new SweepdError("BAD_PARAM", null, `address "${url}": expected unix:PATH or tcp:HOST:PORT`);
}

const bytesOf = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);

function shapeOf(nBars, allow) {
  const shape = Buffer.alloc(16);
  shape.writeBigUInt64LE(BigInt(nBars), 0);
  shape.writeUInt32LE(1, 8); // columns: close
  shape.writeUInt32LE(allow, 12);
  return shape;
}

const seriesOf = (reply) =>
  ({ handle: reply.readBigUInt64LE(0), fingerprint: reply.toString("hex", 8, 24), nBars: Number(reply.readBigUInt64LE(32)) });

/** The six parameters that `length` stands for (docs/numbers.md): halves are rounded to even. */
export function comboOfLength(length) {
  const halved = (n) => Math.max(1, Math.floor(n / 2) + (n % 4 === 3 ? 1 : 0)), p = halved(length);
  return [p, length, Math.max(1, Math.round(Math.sqrt(length))), Math.max(1, Math.round(p / 3)), halved(p), p];
}

// ---- The program: prints what the conformance tests compare ----

/** Finds the series by its fingerprint, if there is one and it is still held; else loads it. */
async function open(client, closes, fingerprint) {
  try {
    if (fingerprint) return ["found", await client.find(fingerprint, closes.length)];
  } catch (e) {
    if (e.status !== "NOT_FOUND") throw e;
  }
  return ["loaded", await client.load(closes)];
}

async function main(url, file, lengths, fingerprint) {
  const closes = new Float64Array(new Uint8Array(fs.readFileSync(file)).buffer);
  const { SWEEPD_TOKEN: token, SWEEPD_TIMEOUT_MS: timeoutMs = "30000" } = process.env;
  const client = await Client.connect(url, { token, timeoutMs: Number(timeoutMs) });
  try {
    const [how, series] = await open(client, closes, fingerprint);
    const asked = lengths.split(",").map(Number), result = await client.sweep(series, asked.map(comboOfLength));
    console.log(`sha256 ${crypto.createHash("sha256").update(result.bytes).digest("hex")}`);
    console.log(`series ${series.fingerprint} ${series.nBars} ${how}`);
    asked.slice(0, 3).forEach((length, i) => console.log(`${length} ${result.pnl[i].toFixed(2)} ${result.trades[i]}`));
  } finally {
    client.close();
  }
}

if (fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  if (process.argv.length < 5) {
    console.error("usage: sweepd_client.mjs URL FILE.f64 LENGTHS [FINGERPRINT]");
    process.exit(2);
  }
  main(...process.argv.slice(2)).catch((e) => {
    console.error(e instanceof SweepdError ? e.message : e);
    process.exitCode = 1;
  });
}
