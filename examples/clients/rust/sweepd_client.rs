//! A client of the sweepd engine for Rust, standard library only: this file is all of it. Specification:
//! protocol/protocol.md.
//!
//!     rustc -O sweepd_client.rs && ./sweepd_client URL FILE.f64 LENGTHS [FINGERPRINT]     what it prints: docs/clients.md
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

const HELLO: u8 = 0x10;
const LOAD: u8 = 0x12;
const FIND: u8 = 0x13;
const SWEEP: u8 = 0x15;
const STATUSES: [&str; 14] = [
    "OK", "MORE", "BAD_FRAME", "UNKNOWN", "BAD_PARAM", "NOT_FOUND", "LIMIT", "CANCELLED", "DENIED", "STALE",
    "SHUTTING_DOWN", "INTERNAL", "NO_MEMORY", "BUSY",
];

/// What the engine answered; or CLOSED, REFUSED, TIMED_OUT: why there was no answer.
#[derive(Debug)]
pub struct Error {
    pub status: String,
    pub at: Option<u64>, // the place, as the specification counts it
    pub text: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "{} at {}: {}", self.status, at, self.text),
            None => write!(f, "{}: {}", self.status, self.text),
        }
    }
}

impl std::error::Error for Error {}

fn error(status: &str, text: impl fmt::Display) -> Error {
    Error { status: status.to_string(), at: None, text: text.to_string() }
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// One connection: one call at a time. An engine that moves no byte for the time-out ends it.
pub struct Client {
    stream: Box<dyn Stream>,
    max_body: u64,
    id: u32,
    is_broken: bool,
}

/// One that the engine holds.
#[derive(Clone, Copy)]
pub struct Series {
    pub handle: u64,
    pub fingerprint: [u8; 16],
    pub n_bars: u64,
}

/// half, full, smooth, third, mid, p: window lengths in bars.
pub type Combo = [i64; 6];

/// What the parameter `length` stands for (docs/numbers.md).
pub fn combo_of_length(length: i64) -> Combo {
    let halved = |n: i64| 1.max(n.div_euclid(2) + i64::from(n.rem_euclid(4) == 3)); // halves are rounded to even
    let rounded = |x: f64| 1.max(x.round() as i64);
    let p = halved(length);
    [p, length, rounded((length as f64).sqrt()), rounded(p as f64 / 3.0), halved(p), p]
}

impl Client {
    /// `url`: unix:PATH or tcp:HOST:PORT. The token may be empty.
    pub fn connect(url: &str, token: &str, timeout: Duration) -> Result<Client, Error> {
        let stream = open(url, timeout)?;
        let mut client = Client { stream, max_body: u64::from(u32::MAX), id: 0, is_broken: false };
        let name = "rust";
        let mut hello = Vec::new();
        hello.extend(2u16.to_le_bytes()); // version 2.0
        hello.extend(0u16.to_le_bytes());
        hello.extend((token.len() as u32).to_le_bytes());
        hello.extend((name.len() as u32).to_le_bytes());
        hello.extend(token.bytes().chain(name.bytes()));
        let reply = client.call(HELLO, &hello, 56)?;
        client.max_body = u64_at(&reply, 8);
        Ok(client)
    }

    /// `allow`: bits of the closes that are let in: 1 NaN, 2 infinities, 4 closes <= 0.
    pub fn load(&mut self, closes: &[f64], allow: u32) -> Result<Series, Error> {
        let mut payload = shape(closes.len(), allow);
        payload.extend(closes.iter().flat_map(|close| close.to_le_bytes()));
        Ok(series(&self.call(LOAD, &payload, 64)?))
    }

    /// A series loaded before, by its fingerprint: nothing is sent again. NOT_FOUND: load it.
    pub fn find(&mut self, fingerprint: &[u8; 16], n_bars: usize, allow: u32) -> Result<Series, Error> {
        let payload = [&fingerprint[..], &shape(n_bars, allow)].concat();
        Ok(series(&self.call(FIND, &payload, 64)?))
    }

    /// In the order of `combos`: pnl in percentage points, fees taken, and closed trades. The study's fee is 0.09.
    pub fn sweep(&mut self, series: &Series, combos: &[Combo], fee: f64, entry_at_cross: bool) -> Result<(Vec<f64>, Vec<i64>), Error> {
        let mut payload = Vec::new();
        payload.extend(series.handle.to_le_bytes());
        payload.extend(1u32.to_le_bytes()); // hma-cross
        payload.extend(0u32.to_le_bytes()); // parameters as rows
        payload.extend((combos.len() as u64).to_le_bytes());
        payload.extend(3u64.to_le_bytes()); // result columns 1 + 2: pnl and trades
        payload.extend(0u32.to_le_bytes()); // no windows: the whole series
        payload.extend(16u32.to_le_bytes()); // bytes of options: fee and entry
        payload.extend(fee.to_le_bytes());
        payload.extend(u64::from(entry_at_cross).to_le_bytes());
        payload.extend(combos.iter().flatten().flat_map(|value| value.to_le_bytes()));
        let reply = self.call(SWEEP, &payload, 16 * combos.len())?;
        let at = |i| u64_at(&reply, 8 * i);
        let n = combos.len();
        Ok(((0..n).map(|i| f64::from_bits(at(i))).collect(), (n..2 * n).map(|i| at(i) as i64).collect()))
    }

    /// Sends a request and returns its reply's payload, which has `reply_size` bytes; behind HELLO's comes a text.
    fn call(&mut self, opcode: u8, payload: &[u8], reply_size: usize) -> Result<Vec<u8>, Error> {
        let size = 8 + payload.len() as u64;
        if size > self.max_body {
            return Err(error("LIMIT", format!("a request of {size} bytes, {} are allowed", self.max_body)));
        }
        if self.is_broken {
            return Err(error("CLOSED", "an earlier call ended the connection"));
        }
        self.id = self.id % 0x7fff_ffff + 1; // never 0: the engine's own
        self.is_broken = true; // until the answer is there
        let mut header = (size as u32).to_le_bytes().to_vec();
        header.extend([opcode, 0, 0, 0]);
        header.extend(self.id.to_le_bytes());
        // Where sending fails, an answer may stand there all the same, and says why.
        let sent = self.stream.write_all(&header).and_then(|()| self.stream.write_all(payload));
        let body = self.read_body().map_err(|e| lost(sent.err().unwrap_or(e)))?;
        let (status, id, reply) = (body[1], u32::from_le_bytes([body[4], body[5], body[6], body[7]]), &body[8..]);
        let size_is_right = reply.len() == reply_size || opcode == HELLO && reply.len() > reply_size;
        if status > 1 && reply.len() >= 24 && (id == self.id || id == 0) {
            self.is_broken = id == 0; // an answer to the connection, not to a call
            let name = STATUSES.get(usize::from(status)).map_or(format!("status {status}"), |name| name.to_string());
            let at = Some(u64_at(reply, 0)).filter(|at| *at != u64::MAX);
            return Err(Error { status: name, at, text: String::from_utf8_lossy(&reply[24..]).into_owned() });
        }
        if status != 0 || id != self.id || body[0] != opcode | 0x80 || !size_is_right {
            return Err(error("CLOSED", format!("an answer of {} bytes that does not fit the request", body.len())));
        }
        self.is_broken = false;
        Ok(reply.to_vec())
    }

    fn read_body(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let size = u32::from_le_bytes(length);
        if size < 8 || u64::from(size) > self.max_body {
            return Err(io::Error::new(ErrorKind::InvalidData, format!("an answer of {size} bytes")));
        }
        let mut body = vec![0; size as usize];
        self.stream.read_exact(&mut body)?;
        Ok(body)
    }
}

fn open(url: &str, timeout: Duration) -> Result<Box<dyn Stream>, Error> {
    let refused = |e: io::Error| error("REFUSED", format!("{url}: {e}"));
    if let Some(path) = url.strip_prefix("unix:") {
        let stream = UnixStream::connect(path).map_err(refused)?;
        stream.set_read_timeout(Some(timeout)).and(stream.set_write_timeout(Some(timeout))).map_err(refused)?;
        return Ok(Box::new(stream));
    }
    if let Some(address) = url.strip_prefix("tcp:") {
        let stream = TcpStream::connect(address).map_err(refused)?;
        stream.set_read_timeout(Some(timeout)).and(stream.set_write_timeout(Some(timeout))).map_err(refused)?;
        stream.set_nodelay(true).map_err(refused)?;
        return Ok(Box::new(stream));
    }
    Err(error("BAD_PARAM", format!("address \"{url}\": expected unix:PATH or tcp:HOST:PORT")))
}

fn lost(e: io::Error) -> Error {
    match e.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => error("TIMED_OUT", "no answer in time"),
        _ => error("CLOSED", format!("before the answer was complete: {e}")),
    }
}

fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[offset..offset + 8]);
    u64::from_le_bytes(word)
}

fn shape(n_bars: usize, allow: u32) -> Vec<u8> {
    let mut bytes = (n_bars as u64).to_le_bytes().to_vec();
    bytes.extend(1u32.to_le_bytes()); // columns: close
    bytes.extend(allow.to_le_bytes());
    bytes
}

fn series(reply: &[u8]) -> Series {
    let mut fingerprint = [0; 16];
    fingerprint.copy_from_slice(&reply[8..24]);
    Series { handle: u64_at(reply, 0), fingerprint, n_bars: u64_at(reply, 32) }
}

// ---- The program: prints what the conformance tests compare ----

/// Rust's library has no SHA-256; the system's program has.
fn sha256(bytes: &[u8]) -> io::Result<String> {
    use std::process::{Command, Stdio};
    let mut child = Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().expect("piped").write_all(bytes)?;
    Ok(String::from_utf8_lossy(&child.wait_with_output()?.stdout[..64]).into_owned())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Finds the series by its fingerprint, if there is one and it is still held; else loads it.
fn find_or_load(client: &mut Client, closes: &[f64], fingerprint: Option<&String>) -> Result<(Series, &'static str), Error> {
    if let Some(wanted) = fingerprint {
        let number = u128::from_str_radix(wanted, 16).map_err(|e| error("BAD_PARAM", format!("fingerprint {wanted}: {e}")))?;
        match client.find(&number.to_be_bytes(), closes.len(), 0) {
            Err(e) if e.status == "NOT_FOUND" => (),
            found => return Ok((found?, "found")),
        }
    }
    Ok((client.load(closes, 0)?, "loaded"))
}

fn run(url: &str, file: &str, lengths: &str, fingerprint: Option<&String>) -> Result<(), Box<dyn std::error::Error>> {
    let raw = std::fs::read(file)?;
    if raw.len() % 8 != 0 {
        return Err(format!("{file}: {} bytes are no whole number of doubles", raw.len()).into());
    }
    let closes: Vec<f64> = (0..raw.len()).step_by(8).map(|i| f64::from_bits(u64_at(&raw, i))).collect();
    let lengths = lengths.split(',').map(str::parse).collect::<Result<Vec<i64>, _>>()?;
    let combos: Vec<Combo> = lengths.iter().map(|length| combo_of_length(*length)).collect();
    let token = std::env::var("SWEEPD_TOKEN").unwrap_or_default();
    let timeout_ms = std::env::var("SWEEPD_TIMEOUT_MS").map_or(Ok(30_000), |text| text.parse())?;

    let mut client = Client::connect(url, &token, Duration::from_millis(timeout_ms))?;
    let (series, how) = find_or_load(&mut client, &closes, fingerprint)?;
    let (pnl, trades) = client.sweep(&series, &combos, 0.09, false)?;
    let bytes: Vec<u8> = pnl.iter().flat_map(|x| x.to_le_bytes()).chain(trades.iter().flat_map(|n| n.to_le_bytes())).collect();
    println!("sha256 {}\nseries {} {} {how}", sha256(&bytes)?, hex(&series.fingerprint), series.n_bars);
    for i in 0..lengths.len().min(3) {
        println!("{} {:.2} {}", lengths[i], pnl[i], trades[i]);
    }
    Ok(())
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if words.len() < 4 {
        eprintln!("usage: sweepd_client URL FILE.f64 LENGTHS [FINGERPRINT]");
        std::process::exit(2);
    }
    if let Err(e) = run(&words[1], &words[2], &words[3], words.get(4)) {
        eprintln!("{e}");
        std::process::exit(1);
    }
}
