// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface Flushing {
    struct Item {
        bytes32 salt;
        address token;
    }

    function flush(Item[] calldata items) external;
}

/// @title A test token that misbehaves in the way that it is told to
/// @notice Only tests deploy it: no customer can pay with it.
contract HostileToken {
    enum Manner {
        Honest,
        AnswersNothing,
        AnswersFalse,
        AnswersTwo,
        AnswersOneByte,
        AnswersTooMuch,
        Reverts,
        RevertsWithTooMuch,
        TakesAFee,
        MovesNothing,
        CallsBack,
        ClaimsMore,
        EatsTheGas
    }

    Manner public manner;
    mapping(address => uint256) private balances;
    Flushing private factory;
    bytes32 private salt;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function behave(Manner manner_, Flushing factory_, bytes32 salt_) external {
        manner = manner_;
        factory = factory_;
        salt = salt_;
    }

    function mint(address to, uint256 value) external {
        balances[to] += value;
    }

    function balanceOf(address owner) external view returns (uint256) {
        return manner == Manner.ClaimsMore ? balances[owner] + 1 : balances[owner];
    }

    /// What it really has of an address, whatever it claims.
    function held(address owner) external view returns (uint256) {
        return balances[owner];
    }

    function transfer(address to, uint256 value) external {
        if (manner == Manner.Reverts) revert("No");
        if (manner == Manner.EatsTheGas) while (true) {}
        if (manner == Manner.RevertsWithTooMuch) answer(20_000, 0, true);
        if (manner == Manner.CallsBack) {
            manner = Manner.Honest;
            Flushing.Item[] memory items = new Flushing.Item[](1);
            items[0] = Flushing.Item(salt, address(this));
            factory.flush(items);
            manner = Manner.CallsBack;
            value = balances[msg.sender] < value ? balances[msg.sender] : value;
        }
        if (manner != Manner.MovesNothing && manner != Manner.AnswersFalse) move(to, value);
        if (manner == Manner.AnswersNothing) answer(0, 0, false);
        if (manner == Manner.AnswersFalse) answer(32, 0, false);
        if (manner == Manner.AnswersTwo) answer(32, 2, false);
        if (manner == Manner.AnswersOneByte) answer(1, 1, false);
        if (manner == Manner.AnswersTooMuch) answer(20_000, 1, false);
        answer(32, 1, false);
    }

    function move(address to, uint256 value) private {
        require(balances[msg.sender] >= value, "Balance");
        balances[msg.sender] -= value;
        uint256 fee = manner == Manner.TakesAFee ? value / 10 : 0;
        balances[to] += value - fee;
        balances[address(this)] += fee;
        emit Transfer(msg.sender, to, value - fee);
    }

    /// Ends the call with so many bytes, of which the first 32 are a number.
    function answer(uint256 size, uint256 first, bool reverting) private pure {
        assembly {
            mstore(0, first)
            switch reverting
            case 1 {
                revert(0, size)
            }
            default {
                return(0, size)
            }
        }
    }
}
