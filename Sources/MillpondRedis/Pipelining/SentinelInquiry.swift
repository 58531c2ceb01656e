extension ServerInquiry<RedisAddress>.Question {
  /// The question to sentinels for the primary of a service.
  static func primary(of service: String, password: String?) -> Self {
    let credentials: [RedisRequest] = password.map { [.command("AUTH", .text($0))] } ?? []
    return Self(
      subject: service,
      requests: credentials + [.command("SENTINEL", "get-master-addr-by-name", .text(service))],
      limits: RESPLimits(lineLength: 1_024, stringLength: 1_024, elements: 16)
    ) { answer, sentinel in
      guard case .array(let parts) = answer, parts.count == 2, let host = parts[0].text,
        !host.isEmpty, let port = parts[1].text.flatMap({ Int64($0) })
      else { return nil }
      return sentinel.node(host: host, port: port)
    }
  }
}
