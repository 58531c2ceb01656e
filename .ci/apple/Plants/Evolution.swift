// A type of ours in the interface of a framework.
public import Millpond

public struct Planted {
  public let cache: DiskCache
}
