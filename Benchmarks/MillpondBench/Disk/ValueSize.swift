/// The size of a row's values, in bytes.
enum ValueSize: Int, CaseIterable {
  case of100 = 100
  case of1K = 1_024
  case of16K = 16_384
  case of256K = 262_144
  case of4M = 4_194_304

  /// The number of values: less than 300 MB for all contenders together.
  var count: Int {
    switch self {
    case .of100, .of1K: 20_000
    case .of16K: 2_000
    case .of256K: 128
    case .of4M: 16
    }
  }

  /// Whether values of this size share a file, in the cache too.
  var isSmall: Bool {
    rawValue <= ValueSize.of16K.rawValue
  }

  /// Whether the overhead of a value is counted too.
  var isWeighed: Bool {
    rawValue <= ValueSize.of1K.rawValue
  }

  /// The size as the names of rows have it.
  var name: String {
    switch self {
    case .of100: "100b"
    case .of1K: "1k"
    case .of16K: "16k"
    case .of256K: "256k"
    case .of4M: "4m"
    }
  }

  var title: String {
    switch self {
    case .of100: "100 bytes"
    case .of1K: "1 KiB"
    case .of16K: "16 KiB"
    case .of256K: "256 KiB"
    case .of4M: "4 MiB"
    }
  }
}
