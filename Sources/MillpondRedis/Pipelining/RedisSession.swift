import Foundation

/// The server's number of a connection, and its run.
struct RedisSession: Sendable, Equatable {
  /// The number of the connection, which begins anew with each run of the server.
  let number: Int64

  /// The name of the server's run.
  let run: String

  /// Reads the answers to `HELLO` and `INFO server`; nil if they do not tell, or the user may not ask.
  init?(_ answers: [Result<RESPValue, RedisError>]) {
    guard answers.count >= 2, case .success(let greeting) = answers[0],
      case .integer(let number) = greeting["id"],
      case .success(let description) = answers[1],
      let line = description.text?.split(whereSeparator: \.isNewline).first(where: {
        $0.hasPrefix(Self.runField)
      })
    else { return nil }
    self.number = number
    run = String(line.dropFirst(Self.runField.count))
  }

  private static let runField = "run_id:"

  /// The number of lost connections that are kept to be ended.
  static let limit = 16

  /// The command that ends the connection.
  ///
  /// Whatever was sent on it and has not been carried out, such as what a proxy still holds, never
  /// will be.
  var ending: RedisRequest { .command("CLIENT", "KILL", "ID", .number(number)) }
}

extension RESPValue {
  /// The value of a name in a map; nil if there is none.
  subscript(name: String) -> RESPValue? {
    guard case .map(let elements) = self,
      let place = elements.firstIndex(of: .bytes(Data(name.utf8))), place + 1 < elements.count
    else { return nil }
    return elements[place + 1]
  }

  /// The name and the version of the server that answers a greeting with this.
  var server: String? {
    guard let name = self["server"]?.text, let version = self["version"]?.text else { return nil }
    return "\(name) \(version)"
  }
}
