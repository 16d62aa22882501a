// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A deposit address that can only pay the treasury
/// @notice Deposit addresses are EIP-1167 clones of this contract. The treasury is immutable and lives in the code
/// of the implementation, so a clone has no storage, no owner and nothing to initialise: whoever calls it, money
/// has one way out.
contract Forwarder {
    address public immutable treasury;

    error TransferFailed(address token);
    error NativeTransferFailed();

    constructor(address treasury_) {
        treasury = treasury_;
    }

    /// Native coin sent here by mistake is kept until `flushNative`.
    receive() external payable {}

    /// @notice Moves the whole balance of `token` to the treasury. Anyone may call it.
    /// @dev Asks the token for success in the three ways tokens answer: by revert, by a returned bool, or by
    /// returning nothing (USDT). An address without code answers nothing too, hence the `balanceOf` check first,
    /// which reverts on it.
    function flush(address token) external {
        uint256 amount = Token(token).balanceOf(address(this));
        if (amount == 0) return;
        (bool ok, bytes memory answer) = token.call(abi.encodeCall(Token.transfer, (treasury, amount)));
        if (!ok || (answer.length != 0 && !abi.decode(answer, (bool)))) revert TransferFailed(token);
    }

    /// @notice Moves the whole native balance to the treasury. Anyone may call it.
    function flushNative() external {
        (bool ok, ) = treasury.call{value: address(this).balance}("");
        if (!ok) revert NativeTransferFailed();
    }
}

interface Token {
    function balanceOf(address owner) external view returns (uint256);

    function transfer(address to, uint256 amount) external returns (bool);
}
