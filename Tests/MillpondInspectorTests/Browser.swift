import Foundation

/// A headless Chromium, driven over its debugging protocol through a pair of pipes.
///
/// One serves all tests, for it starts in a second or two. It is ended after five minutes, so that a page
/// that hangs fails its test.
final class Browser {
  struct Failure: Error, CustomStringConvertible { let description: String }

  /// The path of an installed Chromium; nil if there is none.
  static let path: String? = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    let names = ["chromium", "chromium-browser", "google-chrome"]
    return folders.flatMap { folder in names.map { "\(folder)/\($0)" } }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }()

  // The suite is serialized: one test at a time uses it.
  nonisolated(unsafe) private static let shared: Result<Browser, any Error> = Result {
    atexit { try? Browser.shared.get().end() }
    return try Browser()
  }

  /// Returns the browser with an empty page, in place of that of the test before.
  static func withNewPage() throws -> Browser {
    let browser = try shared.get()
    try browser.openPage()
    return browser
  }

  /// The complaints of the page: exceptions and violated policies.
  private(set) var complaints: [String] = []

  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "millpond-browser-\(UUID().uuidString)")
  private let process = Process()
  private let input: FileHandle
  private let output: FileHandle
  private var received = Data()
  private var lastID = 0
  private var target: String?
  private var session: String?

  private init() throws {
    // A browser that has ended is an error of the write, not the end of the tests.
    signal(SIGPIPE, SIG_IGN)
    guard let path = Self.path else { throw Failure(description: "no Chromium is installed") }
    let (requests, answers) = (
      folder.appending(path: "requests"), folder.appending(path: "answers")
    )
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // As root there is no sandbox. The pipes have the numbers that the option prescribes.
    let script = """
      test "$(id -u)" = 0 && alone=--no-sandbox
      exec timeout -s KILL 300 "$1" --headless=new $alone --disable-gpu --disable-dev-shm-usage \
        --no-first-run --user-data-dir="$2/profile" --remote-debugging-pipe about:blank \
        3< "$2/requests" 4> "$2/answers"
      """
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", script, "sh", path, folder.path]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    for pipe in [requests, answers] where mkfifo(pipe.path, 0o600) != 0 {
      throw Failure(description: "no pipe")
    }
    try process.run()
    input = try FileHandle(forWritingTo: requests)
    output = try FileHandle(forReadingFrom: answers)
  }

  private func openPage() throws {
    session = nil
    if let target { try call("Target.closeTarget", ["targetId": target]) }
    target = try call("Target.createTarget", ["url": "about:blank"])["targetId"] as? String
    session =
      try call("Target.attachToTarget", ["targetId": target ?? "", "flatten": true])["sessionId"]
      as? String
    complaints = []
    for domain in ["Runtime", "Log", "Page"] { try call("\(domain).enable") }
  }

  private func end() {
    session = nil
    _ = try? call("Browser.close")
    try? input.close()
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }

  /// Calls a method of the protocol, and returns its result.
  @discardableResult
  func call(_ method: String, _ parameters: [String: Any] = [:]) throws -> [String: Any] {
    lastID += 1
    var message: [String: Any] = ["id": lastID, "method": method, "params": parameters]
    message["sessionId"] = session
    try input.write(contentsOf: JSONSerialization.data(withJSONObject: message) + Data([0]))
    while true {
      let answer = try next()
      note(answer)
      guard answer["id"] as? Int == lastID else { continue }
      if let error = answer["error"] { throw Failure(description: "\(method): \(error)") }
      return answer["result"] as? [String: Any] ?? [:]
    }
  }

  private func next() throws -> [String: Any] {
    while true {
      if let end = received.firstIndex(of: 0) {
        defer { received = Data(received[(end + 1)...]) }
        let message = try JSONSerialization.jsonObject(with: received[..<end])
        return message as? [String: Any] ?? [:]
      }
      let more = output.availableData
      guard !more.isEmpty else { throw Failure(description: "the browser has ended") }
      received += more
    }
  }

  private func note(_ message: [String: Any]) {
    guard message["sessionId"] as? String == session else { return }
    let parameters = message["params"] as? [String: Any] ?? [:]
    switch message["method"] as? String {
    case "Runtime.exceptionThrown": complaints.append("\(parameters["exceptionDetails"] ?? "")")
    case "Log.entryAdded": complaints.append("\(parameters["entry"] ?? "")")
    default: break
    }
  }
}

// MARK: - Pages

extension Browser {
  /// Goes to a page.
  func open(_ address: String) throws { try call("Page.navigate", ["url": address]) }

  /// Sets the size of the window, and the colours that the user prefers.
  func show(width: Int, height: Int, isDark: Bool) throws {
    try call(
      "Emulation.setDeviceMetricsOverride",
      ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false])
    let scheme = ["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]
    try call("Emulation.setEmulatedMedia", ["features": [scheme]])
  }

  /// Evaluates an expression or a promise, and returns its value as text.
  func evaluate(_ expression: String) throws -> String {
    try run("Promise.resolve(\(expression)).then(String)")
  }

  /// Runs statements, and returns the value of the last one if it is a text.
  @discardableResult
  func run(_ script: String) throws -> String {
    let answer = try call(
      "Runtime.evaluate",
      ["expression": script, "awaitPromise": true, "returnByValue": true])
    if let details = answer["exceptionDetails"] { throw Failure(description: "\(details)") }
    return (answer["result"] as? [String: Any])?["value"] as? String ?? ""
  }

  /// Waits until a condition of the page holds.
  func wait(until condition: String) throws {
    try run(
      """
      new Promise((done) => {
        const look = () => { (\(condition)) ? done("") : setTimeout(look, 20); };
        look();
      })
      """)
  }

  /// Clicks an element.
  func click(_ selector: String) throws {
    try run("document.querySelector('\(selector)').click()")
  }

  /// Writes a picture of the page as PNG.
  func photograph(to file: URL) throws {
    let picture = try call("Page.captureScreenshot")["data"] as? String
    try Data(base64Encoded: picture ?? "")?.write(to: file)
  }
}
