import Foundation

/// The first bytes of an origin that speaks TLS 1.2.
enum Handshake {
  /// A hello, and a certificate for 127.0.0.1 that was good for a day in 2020, signed by itself.
  static let expired: [UInt8] = Array(
    Data(
      base64Encoded: """
        FgMDADECAAAtAwMAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHwDAKwAABf8BAAEAFgMDAR0LAAEZAAEW\
        AAETMIIBDzCBtgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwHhcNMjAwMTAxMDAwMDAwWhcN\
        MjAwMTAyMDAwMDAwWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASeud5J\
        ACcEUUej3ccfIDnTilPA+lAxcaYE7DbQ3Bj6NFHkN/lcIoamKY49XApplvQWfhXPIiL/08Wo1b5hPVRZMAoGCCqG\
        SM49BAMCA0gAMEUCIQCaVdRTPIgAlFc7NqmZZpYiGB/6+1Ovc4kTNTW8yDROZQIgPU56x65LEsQiNfk9xCSDFfh9\
        Dxw2DbXy6agiwSbpgsA=
        """) ?? Data())
}
