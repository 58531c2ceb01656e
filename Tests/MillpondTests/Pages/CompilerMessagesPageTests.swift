import Foundation
import Testing

/// Compiles the mistakes that the article of compiler messages shows, all in one run, and compares
/// what the compiler says of each.
@Suite struct CompilerMessagesPageTests {
  private static let page = "\(SnippetTests.articles)/CompilerMessages.md"

  /// What the article says that the examples are about.
  private static let scene = """
    import Foundation
    import Millpond
    struct User: Codable, Sendable { var name = "" }
    struct Ticket: Decodable, Sendable {}
    final class Picture { var bytes = Data() }
    struct API {
      func user(_ id: Int) async throws -> User { User() }
      func signal(of id: Int) -> Signal<User> { .just(User()) }
    }
    let (api, user, pause) = (API(), User(), Duration.seconds(9))
    let users = MemoryCache<Int, User>(countLimit: 1)
    let layers = users.layered(over: FunctionSource { id in try await api.user(id) })
    let disk = DiskCache(named: "a", byteLimit: 1)
    let net = HTTPSource()
    let address = URL(filePath: "/")
    func show(_ user: User) {}

    """

  private struct Mistake {
    var code: [String] = []
    var messages: [String] = []
  }

  /// The modules that the tests are linked with, beside the program that runs them.
  private static let modules: URL? = {
    let program = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    let folder = program.deletingLastPathComponent().appending(path: "Modules")
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }()

  @Test(.enabled(if: modules != nil))
  func `the compiler says of each mistake what the article says`() throws {
    let mistakes = try Self.mistakes()
    #expect(mistakes.count >= 20)

    var code = Self.scene
    var lines: [Range<Int>] = []
    for (number, mistake) in mistakes.enumerated() {
      code += "func mistake\(number)() async throws {\n"
      let first = code.count { $0 == "\n" } + 1
      lines.append(first..<first + mistake.code.count)
      code += mistake.code.joined(separator: "\n") + "\n}\n"
    }
    let said = try Self.messages(about: code)

    #expect(said.allSatisfy { message in lines.contains { $0.contains(message.line) } }, "\(said)")
    for (mistake, lines) in zip(mistakes, lines) {
      let own = Set(said.filter { lines.contains($0.line) }.map(\.text))
      #expect(own == Set(mistake.messages), "\(mistake.code.joined(separator: "\n"))")
    }
  }

  /// The indented examples of the article, each with the quoted messages behind it.
  private static func mistakes() throws -> [Mistake] {
    let page = try String(
      contentsOf: SnippetTests.root.appending(path: page), encoding: .utf8)
    return page.split(separator: "\n").reduce(into: []) { mistakes, line in
      if line.hasPrefix("    ") {
        if mistakes.last?.messages.isEmpty ?? true, !mistakes.isEmpty {
          mistakes[mistakes.count - 1].code.append(String(line))
        } else {
          mistakes.append(Mistake(code: [String(line)]))
        }
      } else if line.hasPrefix("> ") {
        mistakes[mistakes.count - 1].messages.append(String(line.dropFirst(2)))
      }
    }
  }

  /// Compiles a file, and returns the errors and warnings, except that a constant is unused.
  private static func messages(about code: String) throws -> [(line: Int, text: String)] {
    let folder = FileManager.default.temporaryDirectory.appending(path: "millpond-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "Mistakes.swift")
    try code.write(to: file, atomically: true, encoding: .utf8)

    let (compiler, output) = (Process(), Pipe())
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments = [
      "swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6", "-diagnostic-style",
      "llvm", "-I", try #require(modules).path, file.path,
    ]
    (compiler.standardError, compiler.standardOutput) = (output, output)
    try compiler.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    compiler.waitUntilExit()

    let said = /(?m)^[^\n]*Mistakes\.swift:(\d+):\d+: (?:error|warning): ([^\n]*)$/
    return text.matches(of: said).compactMap { match in
      let text = String(match.2)
      return text.contains("was never used") ? nil : (Int(match.1) ?? 0, text)
    }
  }
}
