// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Forwarder} from "./Forwarder.sol";

/// @title Puts forwarders at addresses known beforehand
/// @notice The address of a forwarder depends on this factory's address and the salt alone, so with the factory
/// at one address on every chain a customer has one deposit address on every chain. It is never changed: another
/// version is another factory.
contract ForwarderFactory {
    /// One thing to move: `token` of the forwarder of `salt`; the zero address stands for native coin.
    struct Item {
        bytes32 salt;
        address token;
    }

    address public immutable implementation;

    event FlushFailed(address indexed forwarder, address indexed token);

    error DeployFailed(bytes32 salt);
    error TooLittleGas();

    constructor(address treasury) {
        implementation = address(new Forwarder(treasury));
    }

    /// @notice The address of the forwarder of `salt`, deployed or not.
    function predict(bytes32 salt) public view returns (address) {
        bytes32 codeHash = keccak256(cloneCode());
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, codeHash)))));
    }

    /// @notice Deploys the forwarder of `salt`; when it is there already, only answers its address.
    function deploy(bytes32 salt) public returns (address forwarder) {
        forwarder = predict(salt);
        if (forwarder.code.length != 0) return forwarder;
        bytes memory code = cloneCode();
        address created;
        assembly ("memory-safe") {
            created := create2(0, add(code, 0x20), mload(code), salt)
        }
        if (created != forwarder) revert DeployFailed(salt);
    }

    /// @notice Moves many balances at once, deploying what is missing. One that fails (a paused token, a blocked
    /// address) is reported by an event and does not stop the others.
    /// @dev One that fails for want of gas stops all: otherwise the least gas with which this does not revert, which
    /// is what wallets estimate, would be too little for the last transfers.
    function flush(Item[] calldata items) external {
        for (uint256 i = 0; i < items.length; i++) {
            address payable forwarder = payable(deploy(items[i].salt));
            address token = items[i].token;
            uint256 gasBefore = gasleft();
            if (!tryFlush(Forwarder(forwarder), token)) {
                // A call gets 63 of 64 parts of the gas (EIP-150). Between here and the code of a token are four.
                if (gasleft() < gasBefore / 16) revert TooLittleGas();
                emit FlushFailed(forwarder, token);
            }
        }
    }

    function tryFlush(Forwarder forwarder, address token) private returns (bool) {
        if (token == address(0)) {
            try forwarder.flushNative() {
                return true;
            } catch {
                return false;
            }
        }
        try forwarder.flush(token) {
            return true;
        } catch {
            return false;
        }
    }

    /// The creation code of a minimal proxy (EIP-1167) to the implementation.
    function cloneCode() private view returns (bytes memory) {
        return
            abi.encodePacked(
                hex"3d602d80600a3d3981f3363d3d373d3d3d363d73",
                implementation,
                hex"5af43d82803e903d91602b57fd5bf3"
            );
    }
}
