// swift-tools-version: 6.2
import PackageDescription

/// Makes every warning an error, where the environment asks for it, as `.ci/run` does.
///
/// Not by default: a path dependency would stop its user's build at the next compiler's new warning.
///
/// Nor with schedules, where some imports are not needed.
let strictness: [SwiftSetting] =
  Context.environment["MILLPOND_STRICT"] == nil || Context.environment["MILLPOND_SCHEDULES"] != nil
  ? [] : [.treatAllWarnings(as: .error)]

/// Makes locks, atomic values, queues and background work points of schedules, so that a test can
/// choose who goes on at each: `ScheduleCheck` of MillpondTesting.
let schedules: [SwiftSetting] =
  Context.environment["MILLPOND_SCHEDULES"] == nil ? [] : [.define("MILLPOND_SCHEDULES")]

let settings: [SwiftSetting] =
  strictness + schedules + [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ]

/// Refuses an expression that takes the type checker longer than so many milliseconds.
///
/// In a test target only: nobody could depend on a package that has this in a library.
let slowExpressions = SwiftSetting.unsafeFlags(
  ["-Xfrontend", "-warn-long-expression-type-checking=200"])

let package = Package(
  name: "Millpond",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
  products: [
    .library(name: "Millpond", targets: ["Millpond"]),
    .library(name: "MillpondCore", targets: ["MillpondCore"]),
    .library(name: "MillpondInspector", targets: ["MillpondInspector"]),
    .library(name: "MillpondEntities", targets: ["MillpondEntities"]),
    .library(name: "MillpondEntityArchive", targets: ["MillpondEntityArchive"]),
    .library(name: "MillpondRedis", targets: ["MillpondRedis"]),
    .library(name: "MillpondSignals", targets: ["MillpondSignals"]),
    .library(name: "MillpondTesting", targets: ["MillpondTesting"]),
    .library(name: "MillpondHTTPTesting", targets: ["MillpondHTTPTesting"]),
    .executable(name: "millpond-demo", targets: ["MillpondDemo"]),
    .executable(name: "millpond-bench", targets: ["MillpondBench"]),
  ],
  targets: [
    .target(name: "MillpondSignals", swiftSettings: settings),
    .target(name: "MillpondCore", dependencies: ["MillpondSignals"], swiftSettings: settings),
    .target(
      name: "MillpondEntities", dependencies: ["MillpondCore", "MillpondSignals"],
      swiftSettings: settings),
    .target(
      name: "Millpond", dependencies: ["MillpondCore", "MillpondSignals"],
      swiftSettings: settings),
    .target(
      name: "MillpondEntityArchive",
      dependencies: ["Millpond", "MillpondCore", "MillpondEntities", "MillpondSignals"],
      swiftSettings: settings),
    .target(
      name: "MillpondRedis", dependencies: ["MillpondCore", "MillpondSignals", "MillpondSockets"],
      swiftSettings: settings),
    .target(
      name: "MillpondTesting", dependencies: ["MillpondCore", "MillpondSignals"],
      swiftSettings: settings),
    .target(name: "MillpondSockets", swiftSettings: settings),
    .target(name: "LoopbackServer", dependencies: ["MillpondSockets"], swiftSettings: settings),
    .target(name: "LocalRedis", dependencies: ["MillpondSockets"], swiftSettings: settings),
    .target(
      name: "MillpondInspector",
      dependencies: ["MillpondCore", "MillpondSignals", "MillpondSockets"], swiftSettings: settings),
    .target(
      name: "MillpondHTTPTesting",
      dependencies: ["Millpond", "MillpondTesting", "LoopbackServer"], swiftSettings: settings),
    .executableTarget(
      name: "MillpondDemo",
      dependencies: [
        "Millpond", "MillpondInspector", "MillpondRedis", "LoopbackServer", "LocalRedis",
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "MillpondBench",
      dependencies: [
        "Millpond", "MillpondEntities", "MillpondRedis", "MillpondSockets", "MillpondTesting",
        "LoopbackServer", "LocalRedis",
      ],
      path: "Benchmarks/MillpondBench", swiftSettings: settings),
    .target(name: "TestTraits", path: "Tests/TestTraits", swiftSettings: settings),
    .target(
      name: "RandomHistories",
      dependencies: ["MillpondTesting", "MillpondCore", "MillpondSignals"],
      path: "Tests/RandomHistories", swiftSettings: settings),
    .testTarget(
      name: "MillpondSignalsTests",
      dependencies: ["MillpondSignals", "MillpondTesting", "TestTraits"],
      swiftSettings: settings),
    .testTarget(
      name: "MillpondCoreTests",
      dependencies: ["MillpondCore", "MillpondSignals", "MillpondTesting", "TestTraits"],
      swiftSettings: settings),
    .testTarget(
      name: "MillpondEntitiesTests",
      dependencies: [
        "MillpondEntities", "MillpondCore", "MillpondSignals", "MillpondTesting", "TestTraits",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "MillpondInspectorTests",
      dependencies: [
        "MillpondInspector", "Millpond", "MillpondSockets", "MillpondTesting", "TestTraits",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "MillpondTests",
      dependencies: [
        "Millpond", "MillpondEntityArchive", "MillpondInspector", "MillpondRedis",
        "MillpondHTTPTesting", "MillpondTesting", "RandomHistories", "LocalRedis",
        "LoopbackServer", "TestTraits",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "MillpondTestingTests",
      dependencies: [
        "MillpondTesting", "MillpondCore", "MillpondSignals", "RandomHistories", "TestTraits",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "MillpondScheduleTests",
      dependencies: [
        "MillpondEntityArchive", "MillpondCore", "MillpondEntities", "MillpondRedis",
        "MillpondSignals", "MillpondSockets", "MillpondTesting",
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "RedisWorker", dependencies: ["Millpond", "MillpondRedis", "LocalRedis"],
      path: "Tests/RedisWorker", swiftSettings: settings),
    .testTarget(
      name: "MillpondRedisTests",
      dependencies: [
        "MillpondRedis", "Millpond", "MillpondSockets", "MillpondTesting", "RandomHistories",
        "LocalRedis", "LoopbackServer", "RedisWorker", "TestTraits",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "LoopbackServerTests",
      dependencies: ["LoopbackServer", "MillpondSockets", "TestTraits"],
      swiftSettings: settings),
    .testTarget(
      name: "MillpondBenchTests",
      dependencies: [
        "MillpondBench", "MillpondCore", "MillpondSignals", "MillpondTesting", "TestTraits",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "TypeCheckingTests", dependencies: ["MillpondSignals", "MillpondTesting"],
      swiftSettings: settings + [slowExpressions]),
  ]
)

// With MILLPOND_TARGETS, of the tests and the programs only these, separated by commas: a second
// configuration builds no more than it runs.
if let chosen = Context.environment["MILLPOND_TARGETS"]?.split(separator: ",").map(String.init) {
  package.targets.removeAll { [.test, .executable].contains($0.type) && !chosen.contains($0.name) }
  package.products.removeAll { product in
    guard let program = product as? Product.Executable else { return false }
    return !program.targets.allSatisfy(chosen.contains)
  }
}
